CREATE TABLE "choices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"registration_id" uuid NOT NULL,
	"class_session_id" uuid NOT NULL,
	"place_ids" jsonb NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "choices_registration" UNIQUE("registration_id","class_session_id")
);
--> statement-breakpoint
CREATE TABLE "class_cancellations" (
	"class_session_id" uuid PRIMARY KEY NOT NULL,
	"id" uuid NOT NULL,
	"choose_until" timestamp with time zone NOT NULL,
	"cancelled_at" timestamp with time zone NOT NULL,
	CONSTRAINT "class_cancellations_id_unique" UNIQUE("id")
);
--> statement-breakpoint
ALTER TABLE "changes" ALTER COLUMN "owner_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "choices" ADD CONSTRAINT "choices_registration_id_registrations_id_fk" FOREIGN KEY ("registration_id") REFERENCES "public"."registrations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "choices" ADD CONSTRAINT "choices_class_session_id_class_cancellations_class_session_id_fk" FOREIGN KEY ("class_session_id") REFERENCES "public"."class_cancellations"("class_session_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "class_cancellations" ADD CONSTRAINT "class_cancellations_class_session_id_class_sessions_id_fk" FOREIGN KEY ("class_session_id") REFERENCES "public"."class_sessions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "choices_session" ON "choices" USING btree ("class_session_id");--> statement-breakpoint
CREATE INDEX "choices_due" ON "choices" USING btree ("due_at") WHERE ended_at is null;