/** How long unpaid seats are held, in minutes: the defaults of the services' settings, and what pages tell families. */

/** Before the payment page is opened. */
export const unopenedHoldMinutes = 10
/** After it is opened: the lifetime of the payment page. The payment provider's minimum is 30 minutes. */
export const paymentPageMinutes = 31
