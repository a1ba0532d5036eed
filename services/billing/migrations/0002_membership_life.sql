CREATE TABLE "disputes" (
	"id" text PRIMARY KEY NOT NULL,
	"payment_id" uuid,
	"stripe_payment_intent_id" text,
	"amount" integer NOT NULL,
	"currency" text NOT NULL,
	"reason" text NOT NULL,
	"status" text NOT NULL,
	"answer_by" timestamp with time zone,
	"opened_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ledger_entries" (
	"transaction_id" text NOT NULL,
	"account" text NOT NULL,
	"amount" bigint NOT NULL,
	CONSTRAINT "ledger_entries_transaction_id_account_pk" PRIMARY KEY("transaction_id","account")
);
--> statement-breakpoint
CREATE TABLE "ledger_transactions" (
	"id" text PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"source" text,
	"stripe_payment_intent_id" text,
	"currency" text NOT NULL,
	"occurred_at" timestamp with time zone NOT NULL,
	"recorded_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "membership_consents" (
	"id" uuid PRIMARY KEY NOT NULL,
	"attempt_id" uuid NOT NULL,
	"version" text NOT NULL,
	"text" text NOT NULL,
	"ip_address" text NOT NULL,
	"user_agent" text NOT NULL,
	"agreed_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "membership_invoices" (
	"invoice_id" text PRIMARY KEY NOT NULL,
	"membership_id" uuid NOT NULL,
	"payment_id" uuid NOT NULL,
	"plan" text NOT NULL,
	"reason" text NOT NULL,
	"period_end" timestamp with time zone NOT NULL,
	CONSTRAINT "membership_invoices_payment_id_unique" UNIQUE("payment_id")
);
--> statement-breakpoint
DROP INDEX "payments_accepted";--> statement-breakpoint
ALTER TABLE "payments" ALTER COLUMN "attempt_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "user_id" uuid;--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "version" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "subscription_status" text DEFAULT 'active' NOT NULL;--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "paid_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "cancel_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "ended_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "next_plan" text;--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "next_amount" integer;--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "card" jsonb;--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "unpaid" jsonb;--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "seat" text DEFAULT 'pending' NOT NULL;--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "rejection" text;--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "end_request" text;--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "reminded_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "membership_id" uuid;--> statement-breakpoint
ALTER TABLE "disputes" ADD CONSTRAINT "disputes_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_transaction_id_ledger_transactions_id_fk" FOREIGN KEY ("transaction_id") REFERENCES "public"."ledger_transactions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "membership_consents" ADD CONSTRAINT "membership_consents_attempt_id_membership_attempts_id_fk" FOREIGN KEY ("attempt_id") REFERENCES "public"."membership_attempts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "membership_invoices" ADD CONSTRAINT "membership_invoices_membership_id_memberships_attempt_id_fk" FOREIGN KEY ("membership_id") REFERENCES "public"."memberships"("attempt_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "membership_invoices" ADD CONSTRAINT "membership_invoices_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "ledger_transactions_intent" ON "ledger_transactions" USING btree ("stripe_payment_intent_id");--> statement-breakpoint
CREATE INDEX "membership_consents_attempt" ON "membership_consents" USING btree ("attempt_id");--> statement-breakpoint
CREATE INDEX "membership_invoices_membership" ON "membership_invoices" USING btree ("membership_id");--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_membership_id_memberships_attempt_id_fk" FOREIGN KEY ("membership_id") REFERENCES "public"."memberships"("attempt_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "memberships_user" ON "memberships" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "memberships_end_requests" ON "memberships" USING btree ("attempt_id") WHERE end_request is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "payments_accepted" ON "payments" USING btree ("registration_id") WHERE outcome = 'accepted' and membership_id is null;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_of_one" CHECK (("payments"."attempt_id" is null) <> ("payments"."membership_id" is null));--> statement-breakpoint
CREATE FUNCTION ledger_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'the ledger is only ever added to';
END $$;--> statement-breakpoint
CREATE TRIGGER ledger_transactions_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_transactions" FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_kept();--> statement-breakpoint
CREATE TRIGGER ledger_entries_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_entries" FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_kept();--> statement-breakpoint
CREATE FUNCTION ledger_is_balanced() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	id text := coalesce(to_jsonb(NEW) ->> 'transaction_id', to_jsonb(NEW) ->> 'id');
BEGIN
	IF (SELECT count(*) < 2 OR sum(amount) <> 0 FROM ledger_entries WHERE transaction_id = id) THEN
		RAISE EXCEPTION 'the entries of ledger transaction % do not balance', id;
	END IF;
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE CONSTRAINT TRIGGER ledger_transactions_balanced AFTER INSERT ON "ledger_transactions" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_is_balanced();--> statement-breakpoint
CREATE CONSTRAINT TRIGGER ledger_entries_balanced AFTER INSERT ON "ledger_entries" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_is_balanced();
