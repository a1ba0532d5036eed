import type { Operation } from '../protocol/protocol.ts'
import type { Tokens } from '../sign-in/tokens.ts'
import { confirmDevice } from './confirm-device.ts'
import { forgetDevice } from './forget-device.ts'
import { getDevice } from './get-device.ts'
import { getTokensFromRefreshToken } from './get-tokens-from-refresh-token.ts'
import { globalSignOut } from './global-sign-out.ts'
import { listDevices } from './list-devices.ts'
import { revokeToken } from './revoke-token.ts'
import { updateDeviceStatus } from './update-device-status.ts'
import { confirmSignUp } from './confirm-sign-up.ts'
import { getUser } from './get-user.ts'
import { initiateAuth } from './initiate-auth.ts'
import { respondToAuthChallenge } from './respond-to-auth-challenge.ts'
import { createUserPool } from './create-user-pool.ts'
import { createUserPoolClient } from './create-user-pool-client.ts'
import { describeUserPool } from './describe-user-pool.ts'
import { describeUserPoolClient } from './describe-user-pool-client.ts'
import { getUserPoolMfaConfig } from './get-user-pool-mfa-config.ts'
import { listUserPoolClients } from './list-user-pool-clients.ts'
import { listUserPools } from './list-user-pools.ts'
import { setUserPoolMfaConfig } from './set-user-pool-mfa-config.ts'
import { associateSoftwareToken } from './associate-software-token.ts'
import { changePassword } from './change-password.ts'
import { completeWebAuthnRegistration } from './complete-web-authn-registration.ts'
import { confirmForgotPassword } from './confirm-forgot-password.ts'
import { deleteUser } from './delete-user.ts'
import { deleteUserAttributes } from './delete-user-attributes.ts'
import { deleteWebAuthnCredential } from './delete-web-authn-credential.ts'
import { forgotPassword } from './forgot-password.ts'
import { getUserAttributeVerificationCode } from './get-user-attribute-verification-code.ts'
import { listWebAuthnCredentials } from './list-web-authn-credentials.ts'
import { resendConfirmationCode } from './resend-confirmation-code.ts'
import { setUserMfaPreference } from './set-user-mfa-preference.ts'
import { startWebAuthnRegistration } from './start-web-authn-registration.ts'
import { updateUserAttributes } from './update-user-attributes.ts'
import { verifySoftwareToken } from './verify-software-token.ts'
import { verifyUserAttribute } from './verify-user-attribute.ts'
import { adminAddUserToGroup } from './admin-add-user-to-group.ts'
import { adminConfirmSignUp } from './admin-confirm-sign-up.ts'
import { adminCreateUser } from './admin-create-user.ts'
import { adminDeleteUser } from './admin-delete-user.ts'
import { adminDisableUser } from './admin-disable-user.ts'
import { adminEnableUser } from './admin-enable-user.ts'
import { adminGetUser } from './admin-get-user.ts'
import { adminForgetDevice } from './admin-forget-device.ts'
import { adminListDevices } from './admin-list-devices.ts'
import { adminSetUserMfaPreference } from './admin-set-user-mfa-preference.ts'
import { adminListGroupsForUser } from './admin-list-groups-for-user.ts'
import { adminRemoveUserFromGroup } from './admin-remove-user-from-group.ts'
import { adminResetUserPassword } from './admin-reset-user-password.ts'
import { adminSetUserPassword } from './admin-set-user-password.ts'
import { adminUpdateUserAttributes } from './admin-update-user-attributes.ts'
import { adminUserGlobalSignOut } from './admin-user-global-sign-out.ts'
import { createGroup } from './create-group.ts'
import { listUsers } from './list-users.ts'
import { listUsersInGroup } from './list-users-in-group.ts'
import { signUp } from './sign-up.ts'

/** Operations by their name in `X-Amz-Target`. */
export function operations(tokens: Tokens): Record<string, Operation> {
  return {
    SignUp: signUp,
    ConfirmSignUp: confirmSignUp,
    InitiateAuth: initiateAuth(tokens),
    RespondToAuthChallenge: respondToAuthChallenge(tokens),
    GetUser: getUser(tokens),
    GetTokensFromRefreshToken: getTokensFromRefreshToken(tokens),
    RevokeToken: revokeToken,
    GlobalSignOut: globalSignOut(tokens),
    ConfirmDevice: confirmDevice(tokens),
    ListDevices: listDevices(tokens),
    GetDevice: getDevice(tokens),
    ForgetDevice: forgetDevice(tokens),
    UpdateDeviceStatus: updateDeviceStatus(tokens),
    AssociateSoftwareToken: associateSoftwareToken(tokens),
    ChangePassword: changePassword(tokens),
    CompleteWebAuthnRegistration: completeWebAuthnRegistration(tokens),
    ConfirmForgotPassword: confirmForgotPassword,
    DeleteUser: deleteUser(tokens),
    DeleteUserAttributes: deleteUserAttributes(tokens),
    DeleteWebAuthnCredential: deleteWebAuthnCredential(tokens),
    ForgotPassword: forgotPassword,
    GetUserAttributeVerificationCode: getUserAttributeVerificationCode(tokens),
    ListWebAuthnCredentials: listWebAuthnCredentials(tokens),
    ResendConfirmationCode: resendConfirmationCode,
    SetUserMFAPreference: setUserMfaPreference(tokens),
    StartWebAuthnRegistration: startWebAuthnRegistration(tokens),
    UpdateUserAttributes: updateUserAttributes(tokens),
    VerifySoftwareToken: verifySoftwareToken(tokens),
    VerifyUserAttribute: verifyUserAttribute(tokens),
    AdminAddUserToGroup: adminAddUserToGroup,
    AdminConfirmSignUp: adminConfirmSignUp,
    AdminCreateUser: adminCreateUser,
    AdminDeleteUser: adminDeleteUser,
    AdminDisableUser: adminDisableUser,
    AdminEnableUser: adminEnableUser,
    AdminForgetDevice: adminForgetDevice,
    AdminGetUser: adminGetUser,
    AdminListDevices: adminListDevices,
    AdminListGroupsForUser: adminListGroupsForUser,
    AdminRemoveUserFromGroup: adminRemoveUserFromGroup,
    AdminResetUserPassword: adminResetUserPassword,
    AdminSetUserMFAPreference: adminSetUserMfaPreference,
    AdminSetUserPassword: adminSetUserPassword,
    AdminUpdateUserAttributes: adminUpdateUserAttributes,
    AdminUserGlobalSignOut: adminUserGlobalSignOut,
    CreateGroup: createGroup,
    ListUsers: listUsers,
    ListUsersInGroup: listUsersInGroup,
    CreateUserPool: createUserPool,
    CreateUserPoolClient: createUserPoolClient,
    DescribeUserPool: describeUserPool,
    DescribeUserPoolClient: describeUserPoolClient,
    GetUserPoolMfaConfig: getUserPoolMfaConfig,
    ListUserPoolClients: listUserPoolClients,
    ListUserPools: listUserPools,
    SetUserPoolMfaConfig: setUserPoolMfaConfig,
  }
}
