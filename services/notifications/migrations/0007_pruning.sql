CREATE INDEX "mails_created" ON "mails" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "mails_codes" ON "mails" USING btree ("created_at") WHERE kind = 'code_issued';