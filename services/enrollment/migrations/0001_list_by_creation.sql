DROP INDEX "registrations_email";--> statement-breakpoint
CREATE INDEX "registrations_created" ON "registrations" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "registrations_email" ON "registrations" USING btree ("email_key","created_at");