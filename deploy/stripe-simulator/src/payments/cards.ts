/**
 * The test cards and their outcomes. Only these numbers are accepted: any other number
 * might be a real card. A number is looked up and discarded; only brand and last four digits are stored.
 */

export interface Decline {
  code: string
  /** The bank's reason if `code` is `card_declined`. */
  declineCode: string | null
  /** The text for the parent. */
  message: string
}

export interface TestCard {
  number: string
  label: string
  /** Undefined: the charge succeeds. */
  decline?: Decline
  /** Whether the bank requires a confirmation: once, when the card is saved, or at every payment. */
  authentication?: 'once' | 'always'
  /** Whether it can be saved although charges fail. */
  attaches?: true
  /** Whether the payment is disputed after it succeeded. */
  disputed?: true
  refund?: 'pending_then_succeeded' | 'succeeded_then_failed'
  /** The name of the card's predefined payment method: `pm_card_visa`. */
  token: string
}

const declined = (declineCode: string, message = 'Your card was declined.'): Decline => ({
  code: 'card_declined',
  declineCode,
  message,
})

export const testCards: readonly TestCard[] = [
  { number: '4242424242424242', token: 'pm_card_visa', label: 'Payment succeeds' },
  {
    number: '4000000000000002',
    token: 'pm_card_visa_chargeDeclined',
    label: 'Declined',
    decline: declined('generic_decline'),
  },
  {
    number: '4000000000009995',
    token: 'pm_card_visa_chargeDeclinedInsufficientFunds',
    label: 'Declined: insufficient funds',
    decline: declined('insufficient_funds', 'Your card has insufficient funds.'),
  },
  {
    number: '4000000000009987',
    token: 'pm_card_visa_chargeDeclinedLostCard',
    label: 'Declined: lost card',
    decline: declined('lost_card'),
  },
  {
    number: '4000000000009979',
    token: 'pm_card_visa_chargeDeclinedStolenCard',
    label: 'Declined: stolen card',
    decline: declined('stolen_card'),
  },
  {
    number: '4000000000000069',
    token: 'pm_card_chargeDeclinedExpiredCard',
    label: 'Declined: expired card',
    decline: { code: 'expired_card', declineCode: null, message: 'Your card has expired.' },
  },
  {
    number: '4000000000000127',
    token: 'pm_card_chargeDeclinedIncorrectCvc',
    label: 'Declined: wrong security code',
    decline: {
      code: 'incorrect_cvc',
      declineCode: null,
      message: "Your card's security code is incorrect.",
    },
  },
  {
    number: '4000000000000119',
    token: 'pm_card_chargeDeclinedProcessingError',
    label: 'Declined: processing error',
    decline: {
      code: 'processing_error',
      declineCode: null,
      message: 'An error occurred while processing your card. Try again in a little bit.',
    },
  },
  {
    number: '4000002500003155',
    token: 'pm_card_authenticationRequiredOnSetup',
    label: '3-D Secure, then succeeds',
    authentication: 'once',
  },
  {
    number: '4000002760003184',
    token: 'pm_card_authenticationRequired',
    label: '3-D Secure every time, then succeeds',
    authentication: 'always',
  },
  {
    number: '4000008400001629',
    token: 'pm_card_threeDSecureRequiredChargeDeclined',
    label: '3-D Secure passes, then declined',
    authentication: 'always',
    decline: declined('generic_decline'),
  },
  {
    number: '4000000000007726',
    token: 'pm_card_pendingRefund',
    label: 'Succeeds; a refund is pending first',
    refund: 'pending_then_succeeded',
  },
  {
    number: '4000000000005126',
    token: 'pm_card_refundFail',
    label: 'Succeeds; a refund fails later',
    refund: 'succeeded_then_failed',
  },
  {
    number: '4000000000000341',
    token: 'pm_card_chargeCustomerFail',
    label: 'Can be saved; declined when charged',
    attaches: true,
    decline: declined('generic_decline'),
  },
  {
    number: '4000000000000259',
    token: 'pm_card_createDispute',
    label: 'Succeeds; disputed as fraud soon after',
    disputed: true,
  },
]

const byNumber = new Map(testCards.map((card) => [card.number, card]))

/** Finds the card of a payment method by its last four digits, which are unique. */
export function cardByLast4(last4: string | null | undefined): TestCard | undefined {
  return testCards.find((card) => card.number.slice(-4) === last4)
}

/** Card data entered by a parent or sent by a test. The number and the code are never stored or logged. */
export interface CardEntry {
  number: string
  expMonth: number | null
  expYear: number | null
  cvc: string
}

export interface CheckedCard {
  card: TestCard
  brand: 'visa'
  last4: string
  expMonth: number
  expYear: number
}

/** A listed card as card data of a predefined payment method. */
export function cardByToken(token: string, now: Date): CheckedCard | undefined {
  const wanted = token === 'pm_card_chargeDeclined' ? 'pm_card_visa_chargeDeclined' : token
  const card = testCards.find((one) => one.token === wanted)
  return card && { card, brand: 'visa', last4: card.number.slice(-4), expMonth: 12, expYear: now.getFullYear() + 3 }
}

type CardField = 'number' | 'expiry' | 'cvc'

export interface CardProblem {
  field: CardField
  code: string
  message: string
}

/** The form's validation before any payment: an error creates no PaymentIntent and no event. */
export function checkCard(entry: CardEntry, now: Date): CheckedCard | CardProblem {
  const number = entry.number.replaceAll(/[\s-]/g, '')
  if (!/^\d*$/.test(number)) return invalidNumber()
  if (number.length < 13) {
    return { field: 'number', code: 'incomplete_number', message: 'Your card number is incomplete.' }
  }
  const card = byNumber.get(number)
  if (card === undefined) return invalidNumber()

  const { expMonth, expYear } = entry
  if (expMonth === null || expYear === null || expMonth < 1 || expMonth > 12) {
    return {
      field: 'expiry',
      code: 'incomplete_expiry',
      message: "Your card's expiration date is incomplete.",
    }
  }
  const year = expYear < 100 ? 2000 + expYear : expYear
  if (year < now.getFullYear()) {
    return {
      field: 'expiry',
      code: 'invalid_expiry_year_past',
      message: "Your card's expiration year is in the past.",
    }
  }
  if (year === now.getFullYear() && expMonth < now.getMonth() + 1) {
    return {
      field: 'expiry',
      code: 'invalid_expiry_month_past',
      message: "Your card's expiration date is in the past.",
    }
  }
  if (year > now.getFullYear() + 50) {
    return { field: 'expiry', code: 'invalid_expiry_year', message: "Your card's expiration year is invalid." }
  }
  if (!/^\d{3}$/.test(entry.cvc)) {
    return { field: 'cvc', code: 'incomplete_cvc', message: "Your card's security code is incomplete." }
  }
  return { card, brand: 'visa', last4: number.slice(-4), expMonth, expYear: year }
}

function invalidNumber(): CardProblem {
  return {
    field: 'number',
    code: 'incorrect_number',
    message: 'Your card number is invalid. This is a simulator: it takes only the listed test cards.',
  }
}

export function isProblem(checked: CheckedCard | CardProblem): checked is CardProblem {
  return 'field' in checked
}

/** `4242 4242 4242 4242` */
export function grouped(number: string): string {
  return number.replaceAll(/(\d{4})(?=\d)/g, '$1 ')
}
