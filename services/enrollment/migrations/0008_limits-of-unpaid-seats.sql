ALTER TABLE "member_holds" ADD COLUMN "network" text;--> statement-breakpoint
ALTER TABLE "pending_member_holds" ADD COLUMN "network" text;--> statement-breakpoint
ALTER TABLE "registrations" ADD COLUMN "opened_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "registrations" ADD COLUMN "network" text;--> statement-breakpoint
CREATE INDEX "member_holds_network" ON "member_holds" USING btree ("network");--> statement-breakpoint
CREATE INDEX "member_holds_attempt" ON "member_holds" USING btree ("attempt_id");--> statement-breakpoint
CREATE INDEX "pending_member_holds_network" ON "pending_member_holds" USING btree ("network");--> statement-breakpoint
CREATE INDEX "registrations_network" ON "registrations" USING btree ("network") WHERE status = 'held';