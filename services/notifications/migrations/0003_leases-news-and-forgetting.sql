DROP INDEX "mails_due";--> statement-breakpoint
ALTER TABLE "mails" ALTER COLUMN "data" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "leased_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "notices" ADD COLUMN "news" jsonb;--> statement-breakpoint
CREATE INDEX "mails_pending" ON "mails" USING btree ("medium","expires_at","next_try_at","id") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "mails_recipient" ON "mails" USING btree (lower("recipient"),"id");--> statement-breakpoint
CREATE INDEX "mails_remembered" ON "mails" USING btree ("created_at") WHERE data is not null;--> statement-breakpoint
CREATE INDEX "notices_news" ON "notices" USING btree ("id") WHERE news is not null;