CREATE TABLE "account_states" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"email" text,
	"email_key" text,
	"status" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "plan_offers" (
	"membership_id" uuid NOT NULL,
	"id" text NOT NULL,
	"agreement" jsonb NOT NULL,
	"agreed_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "plan_offers_membership_id_id_pk" PRIMARY KEY("membership_id","id")
);
--> statement-breakpoint
DROP INDEX "memberships_active";--> statement-breakpoint
ALTER TABLE "checkout_attempts" ADD COLUMN "owner_id" uuid;--> statement-breakpoint
ALTER TABLE "membership_attempts" ADD COLUMN "owner_id" uuid;--> statement-breakpoint
ALTER TABLE "membership_attempts" ADD COLUMN "agreement" jsonb;--> statement-breakpoint
ALTER TABLE "membership_attempts" ADD COLUMN "close_requested_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "membership_attempts" ADD COLUMN "tries" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "membership_attempts" ADD COLUMN "next_try_at" timestamp with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "owned_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "account_ended_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "owner_id" uuid;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "placed_with" jsonb;--> statement-breakpoint
ALTER TABLE "plan_offers" ADD CONSTRAINT "plan_offers_membership_id_memberships_attempt_id_fk" FOREIGN KEY ("membership_id") REFERENCES "public"."memberships"("attempt_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "account_states_user" ON "account_states" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "account_states_email" ON "account_states" USING btree ("email_key");--> statement-breakpoint
CREATE INDEX "checkout_attempts_owner" ON "checkout_attempts" USING btree ("owner_id");--> statement-breakpoint
CREATE INDEX "membership_attempts_email" ON "membership_attempts" USING btree ("email_key");--> statement-breakpoint
CREATE INDEX "membership_attempts_owner" ON "membership_attempts" USING btree ("owner_id");--> statement-breakpoint
CREATE INDEX "memberships_email" ON "memberships" USING btree ("email_key");--> statement-breakpoint
CREATE INDEX "orders_owner" ON "orders" USING btree ("owner_id");--> statement-breakpoint
CREATE INDEX "orders_email" ON "orders" USING btree (lower("email"));--> statement-breakpoint
-- Whose a membership is follows from how it was asked for: those that have found their account keep it.
UPDATE "membership_attempts" SET "email" = "memberships"."email", "email_key" = "memberships"."email_key", "owner_id" = "memberships"."user_id"
FROM "memberships" WHERE "memberships"."attempt_id" = "membership_attempts"."id";--> statement-breakpoint
UPDATE "memberships" SET "owned_at" = "activated_at" WHERE "user_id" IS NOT NULL;
