ALTER TABLE "waivers" DROP CONSTRAINT "waivers_membership_id_unique";--> statement-breakpoint
ALTER TABLE "member_seats" ADD COLUMN "owner_id" uuid;--> statement-breakpoint
ALTER TABLE "member_seats" ADD COLUMN "told_at" timestamp with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
UPDATE "member_seats" SET "told_at" = "created_at";--> statement-breakpoint
ALTER TABLE "registrations" ADD COLUMN "browser_id" uuid;--> statement-breakpoint
ALTER TABLE "waivers" ADD COLUMN "replaced_by" uuid;--> statement-breakpoint
CREATE UNIQUE INDEX "waivers_membership" ON "waivers" USING btree ("membership_id") WHERE replaced_by is null;