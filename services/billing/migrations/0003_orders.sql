CREATE TABLE "orders" (
	"id" uuid PRIMARY KEY NOT NULL,
	"items" jsonb NOT NULL,
	"email" text,
	"ship_to" jsonb,
	"shipped_at" timestamp with time zone,
	"tracking_number" text,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "products" (
	"sku" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"state" text NOT NULL
);
--> statement-breakpoint
CREATE INDEX "orders_created" ON "orders" USING btree ("created_at");