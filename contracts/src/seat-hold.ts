/** How long seats wait for their payment, in minutes: where the services' settings begin, and what pages tell families. */

/** Until the payment page is opened. */
export const unopenedHoldMinutes = 10
/** From then on: as long as that page can be paid. The card provider keeps one for 30 minutes at least. */
export const paymentPageMinutes = 31
