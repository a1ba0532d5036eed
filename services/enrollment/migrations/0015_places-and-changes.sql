CREATE TABLE "change_policies" (
	"valid_from" timestamp with time zone PRIMARY KEY NOT NULL,
	"refunds" jsonb NOT NULL,
	"free_moves" integer NOT NULL,
	"move_days" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "changes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"registration_id" uuid NOT NULL,
	"owner_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"status" text NOT NULL,
	"quote" jsonb NOT NULL,
	"quote_id" text NOT NULL,
	"to_class_session_id" uuid,
	"seats" integer NOT NULL,
	"held_until" timestamp with time zone,
	"payment_id" uuid,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "places" (
	"id" uuid PRIMARY KEY NOT NULL,
	"registration_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"child_name" text NOT NULL,
	"child_age" integer NOT NULL,
	"class_session_id" uuid NOT NULL,
	"status" text DEFAULT 'seated' NOT NULL,
	"paid_amount" integer NOT NULL,
	"list_amount" integer,
	"moves" integer DEFAULT 0 NOT NULL,
	"cancelled_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	CONSTRAINT "places_position" UNIQUE("registration_id","position"),
	CONSTRAINT "places_amounts" CHECK ("places"."paid_amount" >= 0 and "places"."moves" >= 0)
);
--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN "change_id" uuid;--> statement-breakpoint
ALTER TABLE "waivers" ADD COLUMN "signed" jsonb;--> statement-breakpoint
ALTER TABLE "changes" ADD CONSTRAINT "changes_registration_id_registrations_id_fk" FOREIGN KEY ("registration_id") REFERENCES "public"."registrations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "changes" ADD CONSTRAINT "changes_to_class_session_id_class_sessions_id_fk" FOREIGN KEY ("to_class_session_id") REFERENCES "public"."class_sessions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "places" ADD CONSTRAINT "places_registration_id_registrations_id_fk" FOREIGN KEY ("registration_id") REFERENCES "public"."registrations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "places" ADD CONSTRAINT "places_class_session_id_class_sessions_id_fk" FOREIGN KEY ("class_session_id") REFERENCES "public"."class_sessions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "changes_registration" ON "changes" USING btree ("registration_id");--> statement-breakpoint
CREATE INDEX "changes_held" ON "changes" USING btree ("held_until") WHERE status = 'held';--> statement-breakpoint
CREATE INDEX "places_seated" ON "places" USING btree ("class_session_id") WHERE status = 'seated';--> statement-breakpoint
-- The places of registrations that are paid already, with the ids of `placeIdOf` and what was paid divided to the cent as in `dividePayment`.
INSERT INTO "places" ("id", "registration_id", "position", "child_name", "child_age", "class_session_id", "paid_amount", "list_amount", "created_at", "updated_at")
SELECT overlay(overlay(md5(r."id"::text || ':' || (child."number" - 1)) placing '8' from 13 for 1) placing '8' from 17 for 1)::uuid,
	r."id", child."number" - 1, child."value" ->> 'childName', (child."value" ->> 'childAge')::integer, r."class_session_id",
	coalesce(r."paid_amount", 0) / jsonb_array_length(r."children")
		+ CASE WHEN child."number" <= coalesce(r."paid_amount", 0) % jsonb_array_length(r."children") THEN 1 ELSE 0 END,
	CASE WHEN jsonb_array_length(r."children") = 1 THEN r."paid_amount" END,
	r."updated_at", r."updated_at"
FROM "registrations" r CROSS JOIN LATERAL jsonb_array_elements(r."children") WITH ORDINALITY AS child("value", "number")
WHERE r."status" IN ('confirmed', 'waiver_signed');
