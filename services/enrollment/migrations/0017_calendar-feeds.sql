CREATE TABLE "calendar_entries" (
	"owner_id" uuid NOT NULL,
	"entry_id" text NOT NULL,
	"title" text NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	"time_zone" text NOT NULL,
	"duration_minutes" integer NOT NULL,
	"is_cancelled" boolean NOT NULL,
	"sequence" integer NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "calendar_entries_owner_id_entry_id_pk" PRIMARY KEY("owner_id","entry_id")
);
--> statement-breakpoint
CREATE TABLE "calendar_feeds" (
	"owner_id" uuid PRIMARY KEY NOT NULL,
	"token" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "calendar_feeds_token_unique" UNIQUE("token")
);
