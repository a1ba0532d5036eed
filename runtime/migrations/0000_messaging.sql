CREATE TABLE "outbox" (
	"position" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	"id" uuid NOT NULL UNIQUE,
	"type" text NOT NULL,
	"envelope" jsonb NOT NULL,
	"published_at" timestamp with time zone
);
--> statement-breakpoint
CREATE INDEX "outbox_unpublished" ON "outbox" ("position") WHERE "published_at" IS NULL;
--> statement-breakpoint
CREATE FUNCTION "wake_outbox"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_notify('wake', 'outbox'); RETURN NULL; END $$;
--> statement-breakpoint
CREATE TRIGGER "outbox_written" AFTER INSERT ON "outbox" FOR EACH STATEMENT EXECUTE FUNCTION "wake_outbox"();
--> statement-breakpoint
CREATE TABLE "inbox" (
	"handler" text NOT NULL,
	"event_id" uuid NOT NULL,
	"handled_at" timestamp with time zone DEFAULT now() NOT NULL,
	PRIMARY KEY ("handler", "event_id")
);
--> statement-breakpoint
CREATE TABLE "dead_letters" (
	"id" uuid PRIMARY KEY,
	"handler" text NOT NULL,
	"subject" text NOT NULL,
	"payload" text NOT NULL,
	"error" text NOT NULL,
	"deliveries" integer NOT NULL,
	"failed_at" timestamp with time zone DEFAULT now() NOT NULL,
	"replayed_at" timestamp with time zone
);
