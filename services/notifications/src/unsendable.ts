/** Nothing that waiting could mend keeps a message from being sent. */
export class Unsendable extends Error {
  readonly final = true
}

/** What the message tells is not true any more: it is dropped, which is no failure. */
export class MailOutdated extends Unsendable {}
