CREATE TABLE "meeting_changes" (
	"change_id" uuid PRIMARY KEY NOT NULL,
	"class_session_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"number" integer NOT NULL,
	"from_date" date NOT NULL,
	"from_time" text NOT NULL,
	"to_date" date NOT NULL,
	"to_time" text NOT NULL,
	"changed_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "meetings" (
	"class_session_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"date" date NOT NULL,
	"start_time" text NOT NULL,
	"duration_minutes" integer NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	CONSTRAINT "meetings_class_session_id_number_pk" PRIMARY KEY("class_session_id","number")
);
--> statement-breakpoint
CREATE TABLE "reminders" (
	"class_session_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"kind" text NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"handled_at" timestamp with time zone,
	CONSTRAINT "reminders_class_session_id_number_kind_pk" PRIMARY KEY("class_session_id","number","kind")
);
--> statement-breakpoint
ALTER TABLE "class_sessions" ADD COLUMN "coach_name" text;--> statement-breakpoint
ALTER TABLE "class_sessions" ADD COLUMN "join_url" text;--> statement-breakpoint
ALTER TABLE "class_sessions" ADD COLUMN "passcode" text;--> statement-breakpoint
ALTER TABLE "class_sessions" ADD COLUMN "schedule_version" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "meeting_changes" ADD CONSTRAINT "meeting_changes_class_session_id_class_sessions_id_fk" FOREIGN KEY ("class_session_id") REFERENCES "public"."class_sessions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "meetings" ADD CONSTRAINT "meetings_class_session_id_class_sessions_id_fk" FOREIGN KEY ("class_session_id") REFERENCES "public"."class_sessions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "reminders" ADD CONSTRAINT "reminders_class_session_id_class_sessions_id_fk" FOREIGN KEY ("class_session_id") REFERENCES "public"."class_sessions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "meeting_changes_session" ON "meeting_changes" USING btree ("class_session_id");--> statement-breakpoint
CREATE INDEX "reminders_due" ON "reminders" USING btree ("due_at") WHERE handled_at is null;