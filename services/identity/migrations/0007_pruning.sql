CREATE INDEX "devices_unconfirmed" ON "devices" USING btree ("created_at") WHERE sealed_srp_verifier is null;--> statement-breakpoint
CREATE INDEX "known_addresses_seen" ON "known_addresses" USING btree ("last_seen_at");--> statement-breakpoint
CREATE INDEX "refresh_tokens_expiry" ON "refresh_tokens" USING btree ("expires_at");