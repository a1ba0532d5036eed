/** Nothing that waiting could mend keeps a message from being sent. */
export class Unsendable extends Error {
  readonly final = true
}

/** The message is not true any more, and is not to be sent. */
export class MailOutdated extends Unsendable {}
