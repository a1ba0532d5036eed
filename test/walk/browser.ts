import { Browser as AnyBrowser } from '../src/browser.ts'
import type { Account } from './walk.ts'

export type { Answer } from '../src/browser.ts'

/** A browser of a family. */
export class Browser extends AnyBrowser {
  #account: Account | undefined
  /** Identity of the browser for the site; replaced when an account is deleted in it, which clears its cookies. */
  browserKey = {}

  /** The signed-in account as its family knows; its pages are rendered for that account. */
  get account(): Account | undefined {
    return this.#account
  }

  set account(account: Account | undefined) {
    this.#account = account
    this.userId = account?.userId
  }
}
