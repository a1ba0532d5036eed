CREATE TABLE "account_changes" (
	"event_id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"email" text,
	"email_key" text,
	"enabled" boolean NOT NULL,
	"deleted" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "accounts" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"email_key" text,
	"deleted" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "disputes" (
	"dispute_id" text PRIMARY KEY NOT NULL,
	"payment_id" uuid NOT NULL,
	"registration_id" uuid NOT NULL,
	"status" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "refunds" (
	"refund_id" uuid PRIMARY KEY NOT NULL,
	"payment_id" uuid NOT NULL,
	"registration_id" uuid NOT NULL,
	"amount" integer NOT NULL,
	"refunded" boolean DEFAULT false NOT NULL,
	"failed" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
ALTER TABLE "registrations" ADD COLUMN "owner_id" uuid;--> statement-breakpoint
ALTER TABLE "registrations" ADD COLUMN "asked_owner_id" uuid;--> statement-breakpoint
ALTER TABLE "registrations" ADD COLUMN "asked_email" text;--> statement-breakpoint
ALTER TABLE "registrations" ADD COLUMN "asked_at" timestamp with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
UPDATE "registrations" SET "asked_at" = "created_at";--> statement-breakpoint
ALTER TABLE "registrations" ADD COLUMN "separate" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "registrations" ADD COLUMN "replaces" uuid;--> statement-breakpoint
ALTER TABLE "disputes" ADD CONSTRAINT "disputes_registration_id_registrations_id_fk" FOREIGN KEY ("registration_id") REFERENCES "public"."registrations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_registration_id_registrations_id_fk" FOREIGN KEY ("registration_id") REFERENCES "public"."registrations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "account_changes_user" ON "account_changes" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "account_changes_email" ON "account_changes" USING btree ("email_key");--> statement-breakpoint
CREATE INDEX "accounts_email" ON "accounts" USING btree ("email_key");--> statement-breakpoint
CREATE INDEX "disputes_payment" ON "disputes" USING btree ("payment_id");--> statement-breakpoint
CREATE INDEX "refunds_payment" ON "refunds" USING btree ("payment_id");--> statement-breakpoint
CREATE INDEX "registrations_owner" ON "registrations" USING btree ("owner_id","created_at");--> statement-breakpoint
CREATE INDEX "registrations_asked_owner" ON "registrations" USING btree ("asked_owner_id");--> statement-breakpoint
CREATE INDEX "registrations_asked_email" ON "registrations" USING btree (lower("asked_email"));