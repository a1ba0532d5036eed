ALTER TABLE "sign_ins" ADD COLUMN "second_factor" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "reset_by" text;--> statement-breakpoint
CREATE INDEX "devices_last_sign_in" ON "devices" USING btree ("last_sign_in_at");