CREATE INDEX "disputes_registration" ON "disputes" USING btree ("registration_id");--> statement-breakpoint
CREATE INDEX "payments_registration" ON "payments" USING btree ("registration_id");--> statement-breakpoint
CREATE INDEX "refunds_registration" ON "refunds" USING btree ("registration_id");--> statement-breakpoint
CREATE INDEX "registrations_expired" ON "registrations" USING btree ("updated_at") WHERE status = 'expired';