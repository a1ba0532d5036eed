CREATE TABLE "member_holds" (
	"email_key" text PRIMARY KEY NOT NULL,
	"class_session_id" uuid NOT NULL,
	"attempt_id" uuid,
	"held_until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "member_holds" ADD CONSTRAINT "member_holds_class_session_id_class_sessions_id_fk" FOREIGN KEY ("class_session_id") REFERENCES "public"."class_sessions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "member_holds_until" ON "member_holds" USING btree ("held_until");