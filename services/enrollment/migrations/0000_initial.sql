CREATE TABLE "class_sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"season" text NOT NULL,
	"class_type" text NOT NULL,
	"date" date NOT NULL,
	"start_time" text NOT NULL,
	"duration_minutes" integer NOT NULL,
	"time_zone" text NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	"capacity" integer NOT NULL,
	"held" integer DEFAULT 0 NOT NULL,
	"sold" integer DEFAULT 0 NOT NULL,
	"status" text DEFAULT 'open' NOT NULL,
	CONSTRAINT "class_sessions_type_date" UNIQUE("class_type","date"),
	CONSTRAINT "class_sessions_seats" CHECK ("class_sessions"."capacity" >= 0 and "class_sessions"."held" >= 0 and "class_sessions"."sold" >= 0)
);
--> statement-breakpoint
CREATE TABLE "kit_shipments" (
	"registration_id" uuid PRIMARY KEY NOT NULL,
	"status" text DEFAULT 'ready' NOT NULL,
	"carrier" text,
	"tracking_number" text,
	"ready_at" timestamp with time zone NOT NULL,
	"shipped_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "levels" (
	"class_type" text PRIMARY KEY NOT NULL,
	"level_id" text NOT NULL,
	"title" text NOT NULL,
	"description" text NOT NULL,
	"age_from" integer NOT NULL,
	"age_to" integer NOT NULL,
	"program_length" text NOT NULL,
	"position" integer NOT NULL,
	CONSTRAINT "levels_level_id_unique" UNIQUE("level_id")
);
--> statement-breakpoint
CREATE TABLE "payments" (
	"payment_id" uuid PRIMARY KEY NOT NULL,
	"registration_id" uuid NOT NULL,
	"completed" boolean DEFAULT false NOT NULL,
	"refunded" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "registrations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"content_hash" text NOT NULL,
	"guardian_name" text NOT NULL,
	"email" text NOT NULL,
	"email_key" text NOT NULL,
	"children" jsonb NOT NULL,
	"seats" integer NOT NULL,
	"address_line1" text NOT NULL,
	"address_line2" text NOT NULL,
	"city" text NOT NULL,
	"state" text NOT NULL,
	"zip_code" text NOT NULL,
	"class_session_id" uuid NOT NULL,
	"class_type" text NOT NULL,
	"level_title" text NOT NULL,
	"start_date" date NOT NULL,
	"start_time" text NOT NULL,
	"duration_minutes" integer NOT NULL,
	"time_zone" text NOT NULL,
	"status" text NOT NULL,
	"held_until" timestamp with time zone,
	"holds" integer DEFAULT 1 NOT NULL,
	"held_since" timestamp with time zone NOT NULL,
	"attempt_id" uuid,
	"attempt_created_at" timestamp with time zone,
	"payment_id" uuid,
	"receipt_number" text,
	"paid_amount" integer,
	"paid_currency" text,
	"paid_at" timestamp with time zone,
	"rejection_reason" text,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "waivers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"registration_id" uuid NOT NULL,
	"document_sha256" text NOT NULL,
	"guardian_name" text NOT NULL,
	"signed_at" timestamp with time zone NOT NULL,
	"ip_address" text NOT NULL,
	"user_agent" text NOT NULL,
	"signed_pdf" "bytea" NOT NULL,
	CONSTRAINT "waivers_registration_id_unique" UNIQUE("registration_id")
);
--> statement-breakpoint
ALTER TABLE "kit_shipments" ADD CONSTRAINT "kit_shipments_registration_id_registrations_id_fk" FOREIGN KEY ("registration_id") REFERENCES "public"."registrations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_registration_id_registrations_id_fk" FOREIGN KEY ("registration_id") REFERENCES "public"."registrations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "registrations" ADD CONSTRAINT "registrations_class_session_id_class_sessions_id_fk" FOREIGN KEY ("class_session_id") REFERENCES "public"."class_sessions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "waivers" ADD CONSTRAINT "waivers_registration_id_registrations_id_fk" FOREIGN KEY ("registration_id") REFERENCES "public"."registrations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "registrations_email" ON "registrations" USING btree ("email_key","id");--> statement-breakpoint
CREATE INDEX "registrations_holds" ON "registrations" USING btree ("held_until") WHERE status = 'held';--> statement-breakpoint
CREATE INDEX "registrations_session" ON "registrations" USING btree ("class_session_id");