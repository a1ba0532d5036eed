DROP INDEX "refunds_owed";--> statement-breakpoint
CREATE UNIQUE INDEX "refunds_owed" ON "refunds" USING btree ("payment_id","reason") WHERE reason <> 'requested' and status <> 'failed';