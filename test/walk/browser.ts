import { Browser as AnyBrowser } from '../src/browser.ts'
import type { Account } from './walk.ts'

export type { Answer } from '../src/browser.ts'

/** A browser of a family. */
export class Browser extends AnyBrowser {
  #account: Account | undefined
  /** As what the site knows it, until it forgets that with an account that is deleted here. */
  knownAs = {}

  /** Who is signed in, as far as its family knows: its pages are made for that account. */
  get account(): Account | undefined {
    return this.#account
  }

  set account(account: Account | undefined) {
    this.#account = account
    this.userId = account?.userId
  }
}
