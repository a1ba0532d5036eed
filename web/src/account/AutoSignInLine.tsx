import { Link } from '@tanstack/react-router'
import { Notice } from '../ui/Notice.tsx'
import type { AutoSignIn } from './use-auto-sign-in.ts'

/** The state of the automatic sign-in after the account is confirmed. */
export function AutoSignInLine({ autoSignIn }: { autoSignIn: AutoSignIn }) {
  switch (autoSignIn.state) {
    case 'off':
      return null
    case 'waiting':
      return (
        <Notice>
          <p>Once your account is confirmed, even in another tab, this page logs you in automatically.</p>
        </Notice>
      )
    case 'signed in':
      return (
        <Notice kind="success" title="Your account is confirmed, and you’re logged in." live>
          <Link to="/profile">Go to your profile</Link>
        </Notice>
      )
    case 'unfinished':
      return (
        <Notice title="Your account is confirmed." live>
          <p>
            Your login has one more step. <Link to="/membership/login">Log in</Link> to continue.
          </p>
        </Notice>
      )
    case 'failed':
      return (
        <Notice kind="error" title={autoSignIn.message} live>
          <p>
            Confirm it with the code from our email, then <Link to="/membership/login">log in</Link>.
          </p>
        </Notice>
      )
  }
}
