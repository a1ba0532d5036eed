ALTER TABLE "waivers" ALTER COLUMN "registration_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "waivers" ADD COLUMN "membership_id" uuid;--> statement-breakpoint
ALTER TABLE "waivers" ADD COLUMN "member" jsonb;--> statement-breakpoint
ALTER TABLE "waivers" ADD CONSTRAINT "waivers_membership_id_member_seats_attempt_id_fk" FOREIGN KEY ("membership_id") REFERENCES "public"."member_seats"("attempt_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "waivers" ADD CONSTRAINT "waivers_membership_id_unique" UNIQUE("membership_id");--> statement-breakpoint
ALTER TABLE "waivers" ADD CONSTRAINT "waivers_of_one" CHECK (("waivers"."registration_id" is null) <> ("waivers"."membership_id" is null));--> statement-breakpoint
ALTER TABLE "waivers" ADD CONSTRAINT "waivers_of_member" CHECK (("waivers"."membership_id" is null) = ("waivers"."member" is null));