import type { Page } from 'playwright-core'
import { chooseDate } from './pages.ts'

export const goodPassword = 'Robot-2030!'

export const member = {
  given_name: 'Maren',
  family_name: 'Holt',
  email: 'maren.holt@example.com',
  birthdate: '1988-04-12',
  phone_number: '(617) 555-0123',
  street: '14 Alder Way',
  city: 'Cambridge',
  state: 'MA',
  zip: '02139',
}

export const passwordField = (page: Page) => page.getByLabel('Password', { exact: true })
export const messageLine = (page: Page) => page.locator('form [tabindex="-1"]').first()

/** Agrees to the terms of the membership: each plan has its own. */
export async function agree(page: Page): Promise<void> {
  await page.getByLabel(/^I agree: My membership renews by itself/).check()
}

/** Fills in the open registration form; selects the first date that is not full. */
export async function fillRegistration(page: Page, changes: Partial<typeof member> = {}): Promise<void> {
  const values = { ...member, ...changes }
  await page.getByLabel('First name').fill(values.given_name)
  await page.getByLabel('Last name').fill(values.family_name)
  await page.getByLabel('Email').fill(values.email)
  await passwordField(page).fill(goodPassword)
  await page.getByLabel('Confirm password').fill(goodPassword)
  await page.getByLabel('Birthdate').fill(values.birthdate)
  await page.getByLabel('Phone number').fill(values.phone_number)
  await page.getByLabel('Street').fill(values.street)
  await page.getByLabel('City').fill(values.city)
  await page.getByLabel('State', { exact: true }).fill(values.state)
  await page.getByLabel('ZIP').fill(values.zip)
  await chooseDate(page)
  await agree(page)
}

export const proceedButton = (page: Page) =>
  page.getByRole('button', { name: /^(Proceed to Payment|Processing\.\.\.)$/ })

/** A sign-up made in this tab a moment ago. */
export async function signedUp(page: Page, changes: { signedUpAt?: number } = {}): Promise<void> {
  await page.addInitScript(
    (user) => sessionStorage.setItem('pendingUser', JSON.stringify({ signedUpAt: Date.now(), ...user })),
    {
      ...member,
      phone_number: '+16175550123',
      address: '14 Alder Way, Cambridge, MA 02139',
      plan: 'yearly',
      classDate: '2030-01-04',
      codeSentTo: 'm***@e***',
      ...changes,
    },
  )
}

/** From the login page to the response of the first form. */
export async function logIn(page: Page, password = goodPassword): Promise<void> {
  await page.goto('/membership/login')
  await page.getByLabel('Email').fill(member.email)
  await passwordField(page).fill(password)
  await page.getByRole('button', { name: 'Log In', exact: true }).click()
}

/** A virtual platform authenticator that always verifies the user. Returns its id. */
export async function addAuthenticator(page: Page) {
  const client = await page.context().newCDPSession(page)
  await client.send('WebAuthn.enable')
  const { authenticatorId } = await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return {
    credentials: async () => (await client.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
    /** The user does not confirm. */
    refuse: () => client.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false }),
  }
}
