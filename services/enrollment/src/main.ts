import { serve } from '@robokids/runtime/main'

await serve(async () => (await import('./app.ts')).enrollment)
