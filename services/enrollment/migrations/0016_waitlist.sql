CREATE TABLE "waitlist_entries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"place" bigint GENERATED ALWAYS AS IDENTITY (sequence name "waitlist_entries_place_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"content_hash" text NOT NULL,
	"owner_id" uuid,
	"asked_owner_id" uuid,
	"asked_email" text,
	"asked_at" timestamp with time zone DEFAULT now() NOT NULL,
	"browser_id" uuid,
	"network" text,
	"guardian_name" text NOT NULL,
	"email" text NOT NULL,
	"email_key" text NOT NULL,
	"children" jsonb NOT NULL,
	"seats" integer NOT NULL,
	"class_session_id" uuid NOT NULL,
	"level_title" text NOT NULL,
	"family_time_zone" text,
	"status" text DEFAULT 'waiting' NOT NULL,
	"passed_over" integer DEFAULT 0 NOT NULL,
	"passed_over_since" timestamp with time zone,
	"offer_ends_at" timestamp with time zone,
	"closed_reason" text,
	"ended_at" timestamp with time zone,
	"registration_id" uuid,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "class_sessions" ADD COLUMN "set_aside" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "class_sessions" ADD COLUMN "families_waiting" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "waitlist_entries" ADD CONSTRAINT "waitlist_entries_class_session_id_class_sessions_id_fk" FOREIGN KEY ("class_session_id") REFERENCES "public"."class_sessions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "waitlist_line" ON "waitlist_entries" USING btree ("class_session_id","place") WHERE status = 'waiting';--> statement-breakpoint
CREATE INDEX "waitlist_offers" ON "waitlist_entries" USING btree ("offer_ends_at") WHERE status = 'offered';--> statement-breakpoint
CREATE INDEX "waitlist_ended" ON "waitlist_entries" USING btree ("updated_at") WHERE status not in ('waiting', 'offered');--> statement-breakpoint
CREATE INDEX "waitlist_session" ON "waitlist_entries" USING btree ("class_session_id");--> statement-breakpoint
CREATE INDEX "waitlist_email" ON "waitlist_entries" USING btree ("email_key");--> statement-breakpoint
CREATE INDEX "waitlist_owner" ON "waitlist_entries" USING btree ("owner_id","created_at");--> statement-breakpoint
CREATE INDEX "waitlist_asked_owner" ON "waitlist_entries" USING btree ("asked_owner_id");--> statement-breakpoint
CREATE INDEX "waitlist_asked_email" ON "waitlist_entries" USING btree (lower("asked_email"));--> statement-breakpoint
CREATE INDEX "waitlist_browser" ON "waitlist_entries" USING btree ("browser_id") WHERE status in ('waiting', 'offered');--> statement-breakpoint
CREATE INDEX "waitlist_network" ON "waitlist_entries" USING btree ("network") WHERE status in ('waiting', 'offered');