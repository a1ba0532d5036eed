CREATE TABLE "notices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"sku" text NOT NULL,
	"product_name" text NOT NULL,
	"asked_state" text NOT NULL,
	"email" text NOT NULL,
	"email_key" text NOT NULL,
	"status" text NOT NULL,
	"mailings" integer NOT NULL,
	"mailed_at" timestamp with time zone,
	"changed_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "notices_of_address" ON "notices" USING btree ("sku","email_key");--> statement-breakpoint
CREATE INDEX "notices_changed" ON "notices" USING btree ("changed_at");