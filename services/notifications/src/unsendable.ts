/** A message cannot be sent, and a retry cannot help. */
export class Unsendable extends Error {
  readonly final = true
}

/** The content of a message is outdated: it is dropped, which is not a failure. */
export class MailOutdated extends Unsendable {}
