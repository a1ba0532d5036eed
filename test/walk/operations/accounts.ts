import { administer } from '@robokids/local/reset-mfa'
import * as fc from 'fast-check'
import { sampleMember } from '../../src/samples.ts'
import type { Browser } from '../browser.ts'
import { operation, pick } from '../operation.ts'
import { Violation } from '../violation.ts'
import type { Account, Family, Walk } from '../walk.ts'

const { password } = sampleMember('')
const familyAndBrowser = { family: fc.nat(2), browser: fc.nat(1) }

function at(walk: Walk, { family: which, browser }: { family: number; browser: number }) {
  const family = pick(walk.families, which)
  return { family, browser: pick(family.browsers, browser) }
}

/** Whether any browser is signed in. */
const signedIn = (walk: Walk) => walk.browsers.some(({ account }) => account)
const signedInBrowser = (walk: Walk, which: number): Browser =>
  pick(
    walk.browsers.filter(({ account }) => account),
    which,
  )

async function signedInUser(walk: Walk, browser: Browser): Promise<string | undefined> {
  const { body } = await walk.ask(browser, 'GET', '/api/auth/session')
  return (body['user'] as { userId: string } | null | undefined)?.userId
}

async function recordSession(walk: Walk, browser: Browser, account: Account): Promise<void> {
  const userId = await signedInUser(walk, browser)
  if (userId === undefined) return
  account.userId = userId
  browser.account = account
}

async function confirm(walk: Walk, browser: Browser, account: Account, before: number): Promise<void> {
  const code = await walk.world.codeTo(account.email, before)
  // This may not be the browser that signed up, so it sends the password.
  const body = { email: account.email, code, password }
  const answer = await walk.ask(browser, 'POST', '/api/auth/confirm-sign-up', body)
  if (answer.status !== 200) return
  const isSignedIn = answer.body['signedIn'] === true
  // A browser signed in with another confirmed account of that address keeps that account, and nothing was confirmed.
  const userId = isSignedIn ? await signedInUser(walk, browser) : undefined
  if (userId !== undefined && walk.accounts.some((other) => other !== account && other.userId === userId)) return
  account.state = 'active'
  walk.addressVerified(account)
  if (isSignedIn) await recordSession(walk, browser, account)
}

async function signIn(walk: Walk, browser: Browser, account: Account): Promise<void> {
  const answer = await walk.ask(browser, 'POST', '/api/auth/sign-in', { email: account.email, password })
  if (answer.body['step'] === 'DONE') await recordSession(walk, browser, account)
}

async function signOut(walk: Walk, browser: Browser): Promise<void> {
  await walk.ask(browser, 'POST', '/api/auth/sign-out', {})
  browser.account = undefined
}

function end(walk: Walk, account: Account, state: 'disabled' | 'deleted'): void {
  account.state = state
  for (const browser of walk.browsers) if (browser.account === account) browser.account = undefined
}

/** An operator's action on an account. */
async function administerAccount(walk: Walk, operation: string, account: Account): Promise<boolean> {
  const identityTarget = {
    url: walk.world.system.processes.identity.url,
    pool: 'us-west-1_RoboKids',
    accessKeyId: 'local',
    secretAccessKey: 'local',
  }
  try {
    await administer(identityTarget, operation, { Username: account.userId })
    return true
  } catch (error) {
    if (walk.hasFaults) return false
    throw new Violation('every request is answered', `${operation}: ${(error as Error).message}`)
  }
}

const active = (walk: Walk) => walk.accounts.filter(({ state, userId }) => state === 'active' && userId !== '')

/** Signs a browser in with the account of its family, which is made if there is none. */
export async function activeAccount(walk: Walk, family: Family, browser: Browser): Promise<void> {
  const known = active(walk).find((account) => account.family === family)
  if (known) return signIn(walk, browser, known)
  const { email } = family
  const before = walk.world.codesTo(email)
  const answer = await walk.ask(browser, 'POST', '/api/auth/sign-up', sampleMember(email))
  if (answer.status !== 200) return
  const account: Account = { userId: '', email, password, state: 'unconfirmed', family }
  family.accounts.push(account)
  await confirm(walk, browser, account, before)
}

export const accountOperations = [
  operation('make an account', {
    weight: 4,
    args: fc.record({ ...familyAndBrowser, address: fc.nat(5), confirm: fc.boolean() }),
    async run(walk, { address, confirm: confirming, ...who }) {
      const { family, browser } = at(walk, who)
      if (browser.account) await signOut(walk, browser)
      // Usually its current address, sometimes a former one.
      const email = address < 4 ? family.email : pick(family.addresses, address)
      const before = walk.world.codesTo(email)
      const answer = await walk.ask(browser, 'POST', '/api/auth/sign-up', sampleMember(email))
      if (answer.status !== 200) return
      const account: Account = { userId: '', email, password, state: 'unconfirmed', family }
      family.accounts.push(account)
      if (confirming || address < 2) await confirm(walk, browser, account, before)
    },
  }),

  operation('confirm an account', {
    args: fc.record({ ...familyAndBrowser, which: fc.nat(3) }),
    possible: (walk) => walk.accounts.some(({ state }) => state === 'unconfirmed'),
    async run(walk, { which, ...who }) {
      const { browser } = at(walk, who)
      const unconfirmed = walk.accounts.filter(({ state }) => state === 'unconfirmed')
      const account = pick(unconfirmed, which)
      const before = walk.world.codesTo(account.email)
      const asked = await walk.ask(browser, 'POST', '/api/auth/resend-code', { email: account.email })
      if (asked.status === 200) await confirm(walk, browser, account, before)
    },
  }),

  operation('sign in', {
    weight: 3,
    args: fc.record({ which: fc.nat(5), browser: fc.nat(1) }),
    possible: (walk) => active(walk).length > 0,
    async run(walk, { which, browser: index }) {
      const account = pick(active(walk), which)
      const browser = pick(account.family.browsers, index)
      if (browser.account) await signOut(walk, browser)
      await signIn(walk, browser, account)
    },
  }),

  operation('sign out', {
    weight: 1,
    args: fc.record({ which: fc.nat(5) }),
    possible: signedIn,
    run: (walk, { which }) => signOut(walk, signedInBrowser(walk, which)),
  }),

  operation('somebody else signs in, and an older tab goes on', {
    weight: 1,
    args: fc.record({ which: fc.nat(5), other: fc.nat(5), cancels: fc.boolean() }),
    possible: (walk) => signedIn(walk) && active(walk).length > 1,
    async run(walk, { which, other, cancels }) {
      const browser = signedInBrowser(walk, which)
      const older = browser.account
      const others = active(walk).filter((account) => account !== older)
      if (!older || others.length === 0) return
      await signOut(walk, browser)
      await signIn(walk, browser, pick(others, other))
      if (!browser.account) return
      const headers = { 'x-account': older.userId }
      const answer = cancels
        ? await walk.ask(browser, 'POST', '/api/membership/cancel', undefined, headers)
        : await walk.ask(browser, 'PATCH', '/api/profile', { givenName: 'Older' }, headers)
      if (answer.status === 200)
        throw new Violation('a page acts on the account that it shows', `a tab of ${older.userId} was obeyed`)
      await signOut(walk, browser)
    },
  }),

  operation('change the address', {
    weight: 3,
    args: fc.record({ which: fc.nat(5), address: fc.nat(5), verify: fc.boolean() }),
    possible: signedIn,
    async run(walk, { which, address, verify }) {
      const browser = signedInBrowser(walk, which)
      const { account } = browser
      if (!account) return
      const { family } = account
      const email = address < 4 ? newAddress(walk, family) : pick(family.addresses, address)
      const before = walk.world.codesTo(email)
      const change = () => walk.ask(browser, 'PATCH', '/api/profile', { email })
      let answer = await change()
      if (answer.body['code'] === 'FreshSignInRequiredException') {
        const again = await walk.ask(browser, 'POST', '/api/auth/sign-in-again', { password })
        if (again.body['step'] === 'DONE') answer = await change()
      }
      if (answer.status !== 200 || account.email === email) return
      account.pendingEmail = email
      if (verify) await verifyAddress(walk, browser, account, before)
    },
  }),

  operation('verify the address', {
    args: fc.record({ which: fc.nat(5) }),
    possible: (walk) => walk.browsers.some(({ account }) => account?.pendingEmail !== undefined),
    async run(walk, { which }) {
      const browser = pick(
        walk.browsers.filter(({ account }) => account?.pendingEmail !== undefined),
        which,
      )
      const { account } = browser
      if (account?.pendingEmail === undefined) return
      const before = walk.world.codesTo(account.pendingEmail)
      const asked = await walk.ask(browser, 'POST', '/api/profile/verification', { attribute: 'email' })
      if (asked.status === 200) await verifyAddress(walk, browser, account, before)
    },
  }),

  operation('delete the account', {
    weight: 2,
    args: fc.record({ which: fc.nat(5) }),
    possible: signedIn,
    async run(walk, { which }) {
      const browser = signedInBrowser(walk, which)
      const { account } = browser
      const answer = await walk.ask(browser, 'DELETE', '/api/profile', { password })
      if (account && answer.status === 200) {
        end(walk, account, 'deleted')
        browser.browserKey = {}
      }
    },
  }),

  operation('an operator ends an account', {
    weight: 1,
    args: fc.record({ which: fc.nat(5), deletes: fc.boolean() }),
    possible: (walk) => active(walk).length > 0,
    async run(walk, { which, deletes }) {
      const account = pick(active(walk), which)
      const done = await administerAccount(walk, deletes ? 'AdminDeleteUser' : 'AdminDisableUser', account)
      if (done) end(walk, account, deletes ? 'deleted' : 'disabled')
    },
  }),

  operation('open the profile', {
    args: fc.record({ which: fc.nat(5) }),
    possible: signedIn,
    async run(walk, { which }) {
      const browser = signedInBrowser(walk, which)
      await walk.ask(browser, 'GET', '/api/profile')
      await walk.ask(browser, 'GET', '/api/membership')
    },
  }),
]

function newAddress(walk: Walk, family: Family): string {
  return `${walk.tag}.${family.name}.${family.addresses.length}@walk.example`
}

async function verifyAddress(walk: Walk, browser: Browser, account: Account, before: number): Promise<void> {
  const email = account.pendingEmail ?? ''
  const code = await walk.world.codeTo(email, before)
  const answer = await walk.ask(browser, 'POST', '/api/profile/verification/confirm', { attribute: 'email', code })
  if (answer.status !== 200) return
  const { family } = account
  account.pendingEmail = undefined
  family.email = email
  if (!family.addresses.includes(email)) family.addresses.push(email)
  walk.addressChanged(account, email)
}
