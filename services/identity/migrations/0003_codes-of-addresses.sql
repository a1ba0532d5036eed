-- "codes" stays as it is for a version of this service that still runs beside this one, which does not read it.
CREATE TABLE "outstanding_codes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"pool_id" text NOT NULL,
	"purpose" text NOT NULL,
	"subject" text NOT NULL,
	"asked_from" text NOT NULL,
	"destination" text,
	"tries_left" integer NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "outstanding_codes_asker" UNIQUE("pool_id","purpose","subject","asked_from")
);
--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "password_tag" text;--> statement-breakpoint
CREATE INDEX "outstanding_codes_expiry" ON "outstanding_codes" USING btree ("expires_at");