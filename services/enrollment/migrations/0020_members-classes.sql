CREATE TABLE "member_booking_changes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"booking_id" uuid NOT NULL,
	"to_class_session_id" uuid,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "member_bookings" (
	"id" uuid PRIMARY KEY NOT NULL,
	"membership_id" uuid NOT NULL,
	"class_session_id" uuid NOT NULL,
	"status" text NOT NULL,
	"changes" integer DEFAULT 0 NOT NULL,
	"changed_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "member_credits" (
	"id" uuid PRIMARY KEY NOT NULL,
	"membership_id" uuid NOT NULL,
	"payment_id" uuid NOT NULL,
	"month" date NOT NULL,
	"is_first" boolean NOT NULL,
	"version" integer NOT NULL,
	"withdrawn" text,
	"status" text NOT NULL,
	"booking_id" uuid,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	CONSTRAINT "member_credits_booked" CHECK (("member_credits"."booking_id" is not null) = ("member_credits"."status" in ('booked', 'given_up')))
);
--> statement-breakpoint
ALTER TABLE "member_seats" ADD COLUMN "ended_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "member_seats" ADD COLUMN "changes" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "member_seats" ADD COLUMN "changed_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "member_booking_changes" ADD CONSTRAINT "member_booking_changes_to_class_session_id_class_sessions_id_fk" FOREIGN KEY ("to_class_session_id") REFERENCES "public"."class_sessions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "member_bookings" ADD CONSTRAINT "member_bookings_membership_id_member_seats_attempt_id_fk" FOREIGN KEY ("membership_id") REFERENCES "public"."member_seats"("attempt_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "member_bookings" ADD CONSTRAINT "member_bookings_class_session_id_class_sessions_id_fk" FOREIGN KEY ("class_session_id") REFERENCES "public"."class_sessions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "member_booking_changes_booking" ON "member_booking_changes" USING btree ("booking_id");--> statement-breakpoint
CREATE INDEX "member_bookings_membership" ON "member_bookings" USING btree ("membership_id");--> statement-breakpoint
CREATE INDEX "member_bookings_session" ON "member_bookings" USING btree ("class_session_id") WHERE status = 'booked';--> statement-breakpoint
CREATE INDEX "member_credits_membership" ON "member_credits" USING btree ("membership_id");--> statement-breakpoint
CREATE UNIQUE INDEX "member_credits_booking" ON "member_credits" USING btree ("booking_id");--> statement-breakpoint
-- Until now a seat was released only by the end of its membership.
UPDATE "member_seats" SET "ended_at" = now() WHERE "outcome" = 'released';
