CREATE TABLE "simulated_names" (
	"pool_id" text NOT NULL,
	"address" text NOT NULL,
	"username" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "simulated_names_pool_id_address_pk" PRIMARY KEY("pool_id","address"),
	CONSTRAINT "simulated_names_username" UNIQUE("pool_id","username")
);
--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "kept_addresses" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
CREATE INDEX "simulated_names_expiry" ON "simulated_names" USING btree ("expires_at");