ALTER TABLE "mails" ALTER COLUMN "registration_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "user_id" uuid;--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "medium" text DEFAULT 'EMAIL' NOT NULL;--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "sealed_code" text;--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "expires_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "mails_user" ON "mails" USING btree ("user_id");