// This file holds the texts of flag sets.

package abi

// String lists the bits by the kernel's names without prefix, joined by "|".
func (m IBQPAttrMask) String() string { return flagsOf(qpAttrNames, uint64(m)) }

var qpAttrNames = []flagName{
	{uint64(IB_QP_STATE), "STATE"},
	{uint64(IB_QP_CUR_STATE), "CUR_STATE"},
	{uint64(IB_QP_EN_SQD_ASYNC_NOTIFY), "EN_SQD_ASYNC_NOTIFY"},
	{uint64(IB_QP_ACCESS_FLAGS), "ACCESS_FLAGS"},
	{uint64(IB_QP_PKEY_INDEX), "PKEY_INDEX"},
	{uint64(IB_QP_PORT), "PORT"},
	{uint64(IB_QP_QKEY), "QKEY"},
	{uint64(IB_QP_AV), "AV"},
	{uint64(IB_QP_PATH_MTU), "PATH_MTU"},
	{uint64(IB_QP_TIMEOUT), "TIMEOUT"},
	{uint64(IB_QP_RETRY_CNT), "RETRY_CNT"},
	{uint64(IB_QP_RNR_RETRY), "RNR_RETRY"},
	{uint64(IB_QP_RQ_PSN), "RQ_PSN"},
	{uint64(IB_QP_MAX_QP_RD_ATOMIC), "MAX_QP_RD_ATOMIC"},
	{uint64(IB_QP_ALT_PATH), "ALT_PATH"},
	{uint64(IB_QP_MIN_RNR_TIMER), "MIN_RNR_TIMER"},
	{uint64(IB_QP_SQ_PSN), "SQ_PSN"},
	{uint64(IB_QP_MAX_DEST_RD_ATOMIC), "MAX_DEST_RD_ATOMIC"},
	{uint64(IB_QP_PATH_MIG_STATE), "PATH_MIG_STATE"},
	{uint64(IB_QP_CAP), "CAP"},
	{uint64(IB_QP_DEST_QPN), "DEST_QPN"},
	{uint64(IB_QP_RATE_LIMIT), "RATE_LIMIT"},
}

// String lists the bits by the kernel's names without prefix, joined by "|".
func (f IBUverbsAccessFlags) String() string { return flagsOf(accessNames, uint64(f)) }

var accessNames = []flagName{
	{uint64(IB_UVERBS_ACCESS_LOCAL_WRITE), "LOCAL_WRITE"},
	{uint64(IB_UVERBS_ACCESS_REMOTE_WRITE), "REMOTE_WRITE"},
	{uint64(IB_UVERBS_ACCESS_REMOTE_READ), "REMOTE_READ"},
	{uint64(IB_UVERBS_ACCESS_REMOTE_ATOMIC), "REMOTE_ATOMIC"},
	{uint64(IB_UVERBS_ACCESS_MW_BIND), "MW_BIND"},
	{uint64(IB_UVERBS_ACCESS_ZERO_BASED), "ZERO_BASED"},
	{uint64(IB_UVERBS_ACCESS_ON_DEMAND), "ON_DEMAND"},
	{uint64(IB_UVERBS_ACCESS_HUGETLB), "HUGETLB"},
	{uint64(IB_UVERBS_ACCESS_FLUSH_GLOBAL), "FLUSH_GLOBAL"},
	{uint64(IB_UVERBS_ACCESS_FLUSH_PERSISTENT), "FLUSH_PERSISTENT"},
	{uint64(IB_UVERBS_ACCESS_RELAXED_ORDERING), "RELAXED_ORDERING"},
}

// String lists the bits by the kernel's names without prefix, joined by "|".
func (f IBSendFlags) String() string { return flagsOf(sendFlagNames, uint64(f)) }

var sendFlagNames = []flagName{
	{uint64(IB_SEND_FENCE), "FENCE"},
	{uint64(IB_SEND_SIGNALED), "SIGNALED"},
	{uint64(IB_SEND_SOLICITED), "SOLICITED"},
	{uint64(IB_SEND_INLINE), "INLINE"},
	{uint64(IB_SEND_IP_CSUM), "IP_CSUM"},
}

// String lists the bits by the kernel's names without prefix, joined by "|".
func (f IBWCFlags) String() string { return flagsOf(wcFlagNames, uint64(f)) }

var wcFlagNames = []flagName{
	{uint64(IB_WC_GRH), "GRH"},
	{uint64(IB_WC_WITH_IMM), "WITH_IMM"},
	{uint64(IB_WC_WITH_INVALIDATE), "WITH_INVALIDATE"},
	{uint64(IB_WC_IP_CSUM_OK), "IP_CSUM_OK"},
	{uint64(IB_WC_WITH_SMAC), "WITH_SMAC"},
	{uint64(IB_WC_WITH_VLAN), "WITH_VLAN"},
	{uint64(IB_WC_WITH_NETWORK_HDR_TYPE), "WITH_NETWORK_HDR_TYPE"},
}

// String lists the bits by the kernel's names without prefix, joined by "|".
func (f IBUverbsQPCreateFlags) String() string { return flagsOf(qpCreateNames, uint64(f)) }

var qpCreateNames = []flagName{
	{uint64(IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK), "BLOCK_MULTICAST_LOOPBACK"},
	{uint64(IB_UVERBS_QP_CREATE_SCATTER_FCS), "SCATTER_FCS"},
	{uint64(IB_UVERBS_QP_CREATE_CVLAN_STRIPPING), "CVLAN_STRIPPING"},
	{uint64(IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING), "PCI_WRITE_END_PADDING"},
	{uint64(IB_UVERBS_QP_CREATE_SQ_SIG_ALL), "SQ_SIG_ALL"},
}

// String lists the bits by the kernel's names without prefix, joined by "|".
func (f IBUverbsDeviceCapFlags) String() string { return flagsOf(deviceCapNames, uint64(f)) }

var deviceCapNames = []flagName{
	{uint64(IB_UVERBS_DEVICE_RESIZE_MAX_WR), "RESIZE_MAX_WR"},
	{uint64(IB_UVERBS_DEVICE_BAD_PKEY_CNTR), "BAD_PKEY_CNTR"},
	{uint64(IB_UVERBS_DEVICE_BAD_QKEY_CNTR), "BAD_QKEY_CNTR"},
	{uint64(IB_UVERBS_DEVICE_RAW_MULTI), "RAW_MULTI"},
	{uint64(IB_UVERBS_DEVICE_AUTO_PATH_MIG), "AUTO_PATH_MIG"},
	{uint64(IB_UVERBS_DEVICE_CHANGE_PHY_PORT), "CHANGE_PHY_PORT"},
	{uint64(IB_UVERBS_DEVICE_UD_AV_PORT_ENFORCE), "UD_AV_PORT_ENFORCE"},
	{uint64(IB_UVERBS_DEVICE_CURR_QP_STATE_MOD), "CURR_QP_STATE_MOD"},
	{uint64(IB_UVERBS_DEVICE_SHUTDOWN_PORT), "SHUTDOWN_PORT"},
	{uint64(IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT), "PORT_ACTIVE_EVENT"},
	{uint64(IB_UVERBS_DEVICE_SYS_IMAGE_GUID), "SYS_IMAGE_GUID"},
	{uint64(IB_UVERBS_DEVICE_RC_RNR_NAK_GEN), "RC_RNR_NAK_GEN"},
	{uint64(IB_UVERBS_DEVICE_SRQ_RESIZE), "SRQ_RESIZE"},
	{uint64(IB_UVERBS_DEVICE_N_NOTIFY_CQ), "N_NOTIFY_CQ"},
	{uint64(IB_UVERBS_DEVICE_MEM_WINDOW), "MEM_WINDOW"},
	{uint64(IB_UVERBS_DEVICE_UD_IP_CSUM), "UD_IP_CSUM"},
	{uint64(IB_UVERBS_DEVICE_XRC), "XRC"},
	{uint64(IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS), "MEM_MGT_EXTENSIONS"},
	{uint64(IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2A), "MEM_WINDOW_TYPE_2A"},
	{uint64(IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B), "MEM_WINDOW_TYPE_2B"},
	{uint64(IB_UVERBS_DEVICE_RC_IP_CSUM), "RC_IP_CSUM"},
	{uint64(IB_UVERBS_DEVICE_RAW_IP_CSUM), "RAW_IP_CSUM"},
	{uint64(IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING), "MANAGED_FLOW_STEERING"},
	{uint64(IB_UVERBS_DEVICE_RAW_SCATTER_FCS), "RAW_SCATTER_FCS"},
	{uint64(IB_UVERBS_DEVICE_PCI_WRITE_END_PADDING), "PCI_WRITE_END_PADDING"},
	{uint64(IB_UVERBS_DEVICE_FLUSH_GLOBAL), "FLUSH_GLOBAL"},
	{uint64(IB_UVERBS_DEVICE_FLUSH_PERSISTENT), "FLUSH_PERSISTENT"},
	{uint64(IB_UVERBS_DEVICE_ATOMIC_WRITE), "ATOMIC_WRITE"},
	{uint64(IB_UVERBS_DEVICE_CC_DMA_BOUNCE), "CC_DMA_BOUNCE"},
}

// String lists the bits by the kernel's names without prefix, joined by "|".
func (f IBUverbsQueryPortCapFlags) String() string { return flagsOf(portCapNames, uint64(f)) }

var portCapNames = []flagName{
	{uint64(IB_UVERBS_PCF_SM), "SM"},
	{uint64(IB_UVERBS_PCF_NOTICE_SUP), "NOTICE_SUP"},
	{uint64(IB_UVERBS_PCF_TRAP_SUP), "TRAP_SUP"},
	{uint64(IB_UVERBS_PCF_OPT_IPD_SUP), "OPT_IPD_SUP"},
	{uint64(IB_UVERBS_PCF_AUTO_MIGR_SUP), "AUTO_MIGR_SUP"},
	{uint64(IB_UVERBS_PCF_SL_MAP_SUP), "SL_MAP_SUP"},
	{uint64(IB_UVERBS_PCF_MKEY_NVRAM), "MKEY_NVRAM"},
	{uint64(IB_UVERBS_PCF_PKEY_NVRAM), "PKEY_NVRAM"},
	{uint64(IB_UVERBS_PCF_LED_INFO_SUP), "LED_INFO_SUP"},
	{uint64(IB_UVERBS_PCF_SM_DISABLED), "SM_DISABLED"},
	{uint64(IB_UVERBS_PCF_SYS_IMAGE_GUID_SUP), "SYS_IMAGE_GUID_SUP"},
	{uint64(IB_UVERBS_PCF_PKEY_SW_EXT_PORT_TRAP_SUP), "PKEY_SW_EXT_PORT_TRAP_SUP"},
	{uint64(IB_UVERBS_PCF_EXTENDED_SPEEDS_SUP), "EXTENDED_SPEEDS_SUP"},
	{uint64(IB_UVERBS_PCF_CM_SUP), "CM_SUP"},
	{uint64(IB_UVERBS_PCF_SNMP_TUNNEL_SUP), "SNMP_TUNNEL_SUP"},
	{uint64(IB_UVERBS_PCF_REINIT_SUP), "REINIT_SUP"},
	{uint64(IB_UVERBS_PCF_DEVICE_MGMT_SUP), "DEVICE_MGMT_SUP"},
	{uint64(IB_UVERBS_PCF_VENDOR_CLASS_SUP), "VENDOR_CLASS_SUP"},
	{uint64(IB_UVERBS_PCF_DR_NOTICE_SUP), "DR_NOTICE_SUP"},
	{uint64(IB_UVERBS_PCF_CAP_MASK_NOTICE_SUP), "CAP_MASK_NOTICE_SUP"},
	{uint64(IB_UVERBS_PCF_BOOT_MGMT_SUP), "BOOT_MGMT_SUP"},
	{uint64(IB_UVERBS_PCF_LINK_LATENCY_SUP), "LINK_LATENCY_SUP"},
	{uint64(IB_UVERBS_PCF_CLIENT_REG_SUP), "CLIENT_REG_SUP"},
	{uint64(IB_UVERBS_PCF_LINK_SPEED_WIDTH_TABLE_SUP), "LINK_SPEED_WIDTH_TABLE_SUP"},
	{uint64(IB_UVERBS_PCF_VENDOR_SPECIFIC_MADS_TABLE_SUP), "VENDOR_SPECIFIC_MADS_TABLE_SUP"},
	{uint64(IB_UVERBS_PCF_MCAST_PKEY_TRAP_SUPPRESSION_SUP), "MCAST_PKEY_TRAP_SUPPRESSION_SUP"},
	{uint64(IB_UVERBS_PCF_MCAST_FDB_TOP_SUP), "MCAST_FDB_TOP_SUP"},
	{uint64(IB_UVERBS_PCF_HIERARCHY_INFO_SUP), "HIERARCHY_INFO_SUP"},
	{uint64(IB_UVERBS_PCF_IP_BASED_GIDS), "IP_BASED_GIDS"},
}

// String lists the bits by the kernel's names without prefix, joined by "|".
func (f IBUverbsQueryPortFlags) String() string { return flagsOf(portFlagNames, uint64(f)) }

var portFlagNames = []flagName{
	{uint64(IB_UVERBS_QPF_GRH_REQUIRED), "GRH_REQUIRED"},
}

// String lists the bits by the kernel's names without prefix, joined by "|".
func (f IBUverbsCoreSupport) String() string { return flagsOf(coreSupportNames, uint64(f)) }

var coreSupportNames = []flagName{
	{uint64(IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS), "OPTIONAL_MR_ACCESS"},
	{uint64(IB_UVERBS_CORE_SUPPORT_ROBUST_UDATA), "ROBUST_UDATA"},
}
