CREATE TABLE "checkout_attempts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"registration_id" uuid NOT NULL,
	"status" text NOT NULL,
	"purchase" jsonb NOT NULL,
	"amount" integer NOT NULL,
	"currency" text NOT NULL,
	"parameters" json NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"stripe_session_id" text,
	"checkout_url" text,
	"last_decline" text,
	"last_declined_id" text,
	"close_requested_at" timestamp with time zone,
	"checked_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "checkout_attempts_stripe_session_id_unique" UNIQUE("stripe_session_id")
);
--> statement-breakpoint
CREATE TABLE "counters" (
	"name" text PRIMARY KEY NOT NULL,
	"value" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "cursors" (
	"name" text PRIMARY KEY NOT NULL,
	"position" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payments" (
	"id" uuid PRIMARY KEY NOT NULL,
	"attempt_id" uuid NOT NULL,
	"registration_id" uuid NOT NULL,
	"stripe_payment_intent_id" text NOT NULL,
	"outcome" text NOT NULL,
	"amount" integer NOT NULL,
	"currency" text NOT NULL,
	"receipt_number" text,
	"paid_at" timestamp with time zone NOT NULL,
	CONSTRAINT "payments_stripe_payment_intent_id_unique" UNIQUE("stripe_payment_intent_id"),
	CONSTRAINT "payments_receipt_number_unique" UNIQUE("receipt_number")
);
--> statement-breakpoint
CREATE TABLE "price_book" (
	"sku" text NOT NULL,
	"amount" integer NOT NULL,
	"currency" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	CONSTRAINT "price_book_sku_valid_from_pk" PRIMARY KEY("sku","valid_from")
);
--> statement-breakpoint
CREATE TABLE "promotions" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"class_types" jsonb NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	"ends_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "refunds" (
	"id" uuid PRIMARY KEY NOT NULL,
	"payment_id" uuid NOT NULL,
	"registration_id" uuid NOT NULL,
	"amount" integer NOT NULL,
	"currency" text NOT NULL,
	"reason" text NOT NULL,
	"status" text NOT NULL,
	"stripe_refund_id" text,
	"tries" integer DEFAULT 0 NOT NULL,
	"next_try_at" timestamp with time zone NOT NULL,
	"key_generation" integer DEFAULT 0 NOT NULL,
	"announced_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "refunds_stripe_refund_id_unique" UNIQUE("stripe_refund_id")
);
--> statement-breakpoint
CREATE TABLE "stripe_events" (
	"id" text PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"object_id" text NOT NULL,
	"handled_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_attempt_id_checkout_attempts_id_fk" FOREIGN KEY ("attempt_id") REFERENCES "public"."checkout_attempts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "checkout_attempts_live" ON "checkout_attempts" USING btree ("registration_id") WHERE status in ('creating', 'open', 'processing');--> statement-breakpoint
CREATE INDEX "checkout_attempts_registration" ON "checkout_attempts" USING btree ("registration_id");--> statement-breakpoint
CREATE INDEX "checkout_attempts_unsettled" ON "checkout_attempts" USING btree ("checked_at") WHERE status in ('creating', 'open', 'processing');--> statement-breakpoint
CREATE UNIQUE INDEX "payments_accepted" ON "payments" USING btree ("registration_id") WHERE outcome = 'accepted';--> statement-breakpoint
CREATE INDEX "payments_registration" ON "payments" USING btree ("registration_id");--> statement-breakpoint
CREATE UNIQUE INDEX "refunds_owed" ON "refunds" USING btree ("payment_id","reason") WHERE reason <> 'requested';--> statement-breakpoint
CREATE INDEX "refunds_payment" ON "refunds" USING btree ("payment_id");--> statement-breakpoint
CREATE INDEX "refunds_registration" ON "refunds" USING btree ("registration_id");--> statement-breakpoint
CREATE INDEX "refunds_pending" ON "refunds" USING btree ("next_try_at") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "stripe_events_handled" ON "stripe_events" USING btree ("handled_at");