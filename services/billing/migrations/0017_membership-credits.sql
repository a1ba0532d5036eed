CREATE TABLE "membership_credits" (
	"id" uuid PRIMARY KEY NOT NULL,
	"membership_id" uuid NOT NULL,
	"invoice_id" text NOT NULL,
	"payment_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"month" date NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"given_at" timestamp with time zone,
	"withdrawn" text,
	"version" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "membership_invoices" ADD COLUMN "period_start" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "membership_credits" ADD CONSTRAINT "membership_credits_membership_id_memberships_attempt_id_fk" FOREIGN KEY ("membership_id") REFERENCES "public"."memberships"("attempt_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "membership_credits" ADD CONSTRAINT "membership_credits_invoice_id_membership_invoices_invoice_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."membership_invoices"("invoice_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "membership_credits" ADD CONSTRAINT "membership_credits_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "membership_credits_month" ON "membership_credits" USING btree ("invoice_id","number");--> statement-breakpoint
CREATE INDEX "membership_credits_membership" ON "membership_credits" USING btree ("membership_id");--> statement-breakpoint
CREATE INDEX "membership_credits_payment" ON "membership_credits" USING btree ("payment_id");--> statement-breakpoint
CREATE INDEX "membership_credits_due" ON "membership_credits" USING btree ("due_at") WHERE given_at is null;