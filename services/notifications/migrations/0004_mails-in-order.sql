ALTER TABLE "mails" ADD COLUMN "subject" text;--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "happened_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "rejections" ADD COLUMN "duplicate_of" uuid;--> statement-breakpoint
CREATE INDEX "mails_subject" ON "mails" USING btree ("subject","happened_at");--> statement-breakpoint
-- What still waits, and what was told lately, gets its place as well: by when it came.
UPDATE "mails" SET "happened_at" = "created_at", "subject" = CASE
	WHEN "kind" IN ('user_updated', 'sign_in_locked', 'user_deleted') THEN 'account:' || "user_id"
	WHEN "kind" = 'payment_disputed' THEN 'dispute:' || ("data" ->> 'disputeId')
	WHEN "kind" LIKE 'order\_%' THEN 'order:' || ("data" ->> 'orderId')
	WHEN "kind" LIKE 'membership\_%' THEN 'membership:' || ("data" ->> 'attemptId')
	WHEN "data" ->> 'classType' = 'membership' THEN 'membership:' || "registration_id"
	ELSE 'registration:' || "registration_id"
END
WHERE ("status" = 'pending' OR "created_at" > now() - interval '5 days')
	AND "kind" NOT IN ('code_issued', 'notice_asked', 'product_available');
