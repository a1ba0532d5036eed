CREATE TABLE "membership_attempts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"email_key" text NOT NULL,
	"plan" text NOT NULL,
	"class_date" date NOT NULL,
	"status" text NOT NULL,
	"amount" integer NOT NULL,
	"currency" text NOT NULL,
	"parameters" json NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"stripe_session_id" text,
	"checkout_url" text,
	"checked_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "membership_attempts_stripe_session_id_unique" UNIQUE("stripe_session_id")
);
--> statement-breakpoint
CREATE TABLE "memberships" (
	"attempt_id" uuid PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"email_key" text NOT NULL,
	"plan" text NOT NULL,
	"stripe_subscription_id" text NOT NULL,
	"stripe_customer_id" text NOT NULL,
	"amount" integer NOT NULL,
	"currency" text NOT NULL,
	"status" text NOT NULL,
	"activated_at" timestamp with time zone NOT NULL,
	CONSTRAINT "memberships_stripe_subscription_id_unique" UNIQUE("stripe_subscription_id")
);
--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_attempt_id_membership_attempts_id_fk" FOREIGN KEY ("attempt_id") REFERENCES "public"."membership_attempts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "membership_attempts_live" ON "membership_attempts" USING btree ("email_key") WHERE status in ('creating', 'open', 'processing');--> statement-breakpoint
CREATE INDEX "membership_attempts_unsettled" ON "membership_attempts" USING btree ("checked_at") WHERE status in ('creating', 'open', 'processing');--> statement-breakpoint
CREATE UNIQUE INDEX "memberships_active" ON "memberships" USING btree ("email_key") WHERE status = 'active';