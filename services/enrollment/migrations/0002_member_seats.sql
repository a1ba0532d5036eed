CREATE TABLE "member_seats" (
	"attempt_id" uuid PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"class_date" date NOT NULL,
	"class_session_id" uuid,
	"outcome" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "member_seats" ADD CONSTRAINT "member_seats_class_session_id_class_sessions_id_fk" FOREIGN KEY ("class_session_id") REFERENCES "public"."class_sessions"("id") ON DELETE no action ON UPDATE no action;