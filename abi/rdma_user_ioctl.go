// This file mirrors the whole of include/uapi/rdma/rdma_user_ioctl.h. The numbers are
// those of the generic ioctl encoding on 64-bit systems; the structs they carry
// (ib_user_mad.h, hfi/hfi1_ioctl.h) are not part of this package.

package abi

// Requests of the umad and hfi1 devices, which share RDMA_IOCTL_MAGIC (old name
// IB_IOCTL_MAGIC) with the verbs ioctl.
const (
	IB_IOCTL_MAGIC               = 0x0000001b
	IB_USER_MAD_REGISTER_AGENT   = 0xc01c1b01
	IB_USER_MAD_UNREGISTER_AGENT = 0x40041b02
	IB_USER_MAD_ENABLE_PKEY      = 0x00001b03
	IB_USER_MAD_REGISTER_AGENT2  = 0xc0281b04
	HFI1_IOCTL_ASSIGN_CTXT       = 0xc01c1be1
	HFI1_IOCTL_CTXT_INFO         = 0x40281be2
	HFI1_IOCTL_USER_INFO         = 0x40781be3
	HFI1_IOCTL_TID_UPDATE        = 0xc0181be4
	HFI1_IOCTL_TID_FREE          = 0xc0181be5
	HFI1_IOCTL_CREDIT_UPD        = 0x00001be6
	HFI1_IOCTL_RECV_CTRL         = 0x40041be8
	HFI1_IOCTL_POLL_TYPE         = 0x40041be9
	HFI1_IOCTL_ACK_EVENT         = 0x40081bea
	HFI1_IOCTL_SET_PKEY          = 0x40021beb
	HFI1_IOCTL_CTXT_RESET        = 0x00001bec
	HFI1_IOCTL_TID_INVAL_READ    = 0xc0181bed
	HFI1_IOCTL_GET_VERS          = 0x80041bee
)
