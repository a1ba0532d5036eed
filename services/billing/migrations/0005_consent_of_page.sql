ALTER TABLE "membership_consents" ALTER COLUMN "ip_address" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "membership_consents" ALTER COLUMN "user_agent" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "membership_consents" ADD COLUMN "stripe_session_id" text;--> statement-breakpoint
ALTER TABLE "membership_consents" ADD CONSTRAINT "membership_consents_proof" CHECK (("membership_consents"."ip_address" is not null and "membership_consents"."user_agent" is not null) or "membership_consents"."stripe_session_id" is not null);