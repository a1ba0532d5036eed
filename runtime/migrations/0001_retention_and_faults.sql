-- Where the broker has it, and what becomes of an event that the broker does not take.
ALTER TABLE "outbox" ADD COLUMN "sequence" bigint;
--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "tries" integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "retry_at" timestamp with time zone;
--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "set_aside_at" timestamp with time zone;
--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "error" text;
--> statement-breakpoint
CREATE INDEX "outbox_published" ON "outbox" ("published_at") WHERE "published_at" IS NOT NULL;
--> statement-breakpoint
-- Which stream the outbox has published to: another one under the same name has lost what the first one held.
CREATE TABLE "broker_streams" (
	"name" text PRIMARY KEY,
	"created" text NOT NULL
);
--> statement-breakpoint
-- Rows come in the order of this column, for which such an index is small and all but free to keep.
CREATE INDEX "inbox_handled" ON "inbox" USING brin ("handled_at");
--> statement-breakpoint
-- Since when each handler has existed: one that begins now hears of nothing older, whatever becomes of the broker's data.
-- Those that have handled something are not new: none of what they hear is too old for them.
CREATE TABLE "handlers" (
	"handler" text PRIMARY KEY,
	"since" timestamp with time zone NOT NULL
);
--> statement-breakpoint
INSERT INTO "handlers" SELECT DISTINCT "handler", 'epoch'::timestamptz FROM "inbox";
--> statement-breakpoint
-- How often a delivery failed by a fault of its own. Those that a database or a stop interrupted are not counted.
CREATE TABLE "failed_deliveries" (
	"handler" text NOT NULL,
	"sequence" bigint NOT NULL,
	"tries" integer NOT NULL,
	"failed_at" timestamp with time zone DEFAULT now() NOT NULL,
	PRIMARY KEY ("handler", "sequence")
);
--> statement-breakpoint
-- One row, written to by each check of readiness: a standby answers every question, and refuses this.
CREATE TABLE "heartbeat" ("at" timestamp with time zone NOT NULL);
--> statement-breakpoint
INSERT INTO "heartbeat" VALUES (now());
