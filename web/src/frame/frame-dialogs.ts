/** Dialogs that few visitors see, imported when they are needed. */
export { Alert } from '../ui/Alert.tsx'
export { OtherAccount } from './OtherAccount.tsx'
