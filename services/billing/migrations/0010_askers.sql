DROP INDEX "membership_attempts_live";--> statement-breakpoint
ALTER TABLE "membership_attempts" ADD COLUMN "browser_id" uuid;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "browser_id" uuid;--> statement-breakpoint
CREATE UNIQUE INDEX "membership_attempts_live_asker" ON "membership_attempts" USING btree ("email_key",coalesce("owner_id", "browser_id")) WHERE status in ('creating', 'open', 'processing');