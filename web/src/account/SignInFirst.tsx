import { Navigate, useRouter } from '@tanstack/react-router'
import { useState } from 'react'

/** Leads a visitor to the login, and back to this page afterwards. */
export function SignInFirst() {
  const router = useRouter()
  const [cameFor] = useState(() => router.state.location.href)
  return <Navigate to="/membership/login" replace state={{ cameFor }} />
}
