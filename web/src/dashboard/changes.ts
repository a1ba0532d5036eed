export { CancelPage } from './CancelPage.tsx'
export { MovePage } from './MovePage.tsx'
