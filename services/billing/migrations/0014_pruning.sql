CREATE INDEX "checkout_attempts_over" ON "checkout_attempts" USING btree ("created_at") WHERE status in ('expired', 'failed');--> statement-breakpoint
CREATE INDEX "membership_attempts_over" ON "membership_attempts" USING btree ("created_at") WHERE status in ('expired', 'failed');--> statement-breakpoint
CREATE INDEX "orders_unpaid" ON "orders" USING btree ("created_at") WHERE email is null;--> statement-breakpoint
CREATE INDEX "payments_attempt" ON "payments" USING btree ("attempt_id");