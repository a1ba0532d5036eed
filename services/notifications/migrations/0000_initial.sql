CREATE TABLE "mails" (
	"id" uuid PRIMARY KEY NOT NULL,
	"fact" text NOT NULL,
	"kind" text NOT NULL,
	"registration_id" uuid NOT NULL,
	"recipient" text NOT NULL,
	"data" jsonb NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"sending" integer DEFAULT 1 NOT NULL,
	"message_id" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_try_at" timestamp with time zone NOT NULL,
	"last_error" text,
	"created_at" timestamp with time zone NOT NULL,
	"sent_at" timestamp with time zone,
	CONSTRAINT "mails_fact_unique" UNIQUE("fact")
);
--> statement-breakpoint
CREATE TABLE "rejections" (
	"payment_id" uuid PRIMARY KEY NOT NULL,
	"reason" text NOT NULL
);
--> statement-breakpoint
CREATE INDEX "mails_due" ON "mails" USING btree ("next_try_at","id") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "mails_registration" ON "mails" USING btree ("registration_id");