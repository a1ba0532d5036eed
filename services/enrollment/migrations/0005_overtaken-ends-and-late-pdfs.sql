CREATE TABLE "pending_member_holds" (
	"email_key" text PRIMARY KEY NOT NULL,
	"class_session_id" uuid NOT NULL,
	"held_until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "seasons" (
	"season" text PRIMARY KEY NOT NULL,
	"opened_on" date NOT NULL
);
--> statement-breakpoint
CREATE TABLE "waiver_documents" (
	"sha256" text PRIMARY KEY NOT NULL,
	"pdf" "bytea" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "member_seats" ALTER COLUMN "class_date" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "waivers" ALTER COLUMN "signed_pdf" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "member_holds" ADD COLUMN "awaited" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "member_holds" ADD COLUMN "awaited_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "waivers" ADD COLUMN "pdf_tries" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "waivers" ADD COLUMN "pdf_due_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "pending_member_holds" ADD CONSTRAINT "pending_member_holds_class_session_id_class_sessions_id_fk" FOREIGN KEY ("class_session_id") REFERENCES "public"."class_sessions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "waivers_without_pdf" ON "waivers" USING btree ("pdf_due_at") WHERE signed_pdf is null;