ALTER TABLE "checkout_attempts" ADD COLUMN "agreement" jsonb;--> statement-breakpoint
ALTER TABLE "checkout_attempts" ADD COLUMN "replaced" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "cart_id" uuid;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "returned_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN "makes_good" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "orders_cart" ON "orders" USING btree ("cart_id");--> statement-breakpoint
UPDATE "payments" SET "returned_at" = now() FROM (
	SELECT "payment_id",
		coalesce(sum("amount") FILTER (WHERE "status" = 'succeeded'), 0) AS "back",
		max("amount") FILTER (WHERE "announced_at" IS NOT NULL) AS "told"
	FROM "refunds" GROUP BY "payment_id"
) AS "given" WHERE "given"."payment_id" = "payments"."id" AND greatest("back", "told") >= "payments"."amount";
